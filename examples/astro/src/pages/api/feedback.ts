import type { APIRoute } from "astro";

import { askBot } from "../../lib/bot-proxy";

export const prerender = false;

export const POST: APIRoute = ({ request, clientAddress }) => askBot("/api/feedback", request, clientAddress);
