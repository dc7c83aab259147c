import { askBot } from "../../../lib/bot-proxy";

export const dynamic = "force-dynamic";
export const runtime = "nodejs";

export function GET(request: Request): Promise<Response> {
  return askBot("/api/info", request);
}
