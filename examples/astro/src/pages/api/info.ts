import type { APIRoute } from "astro";

import { askBot } from "../../lib/bot-proxy";

export const prerender = false;

export const GET: APIRoute = ({ request, clientAddress }) => askBot("/api/info", request, clientAddress);
