// Copies what both examples share: the widget into public/, the proxy into the folder that is given.
// In a site of your own, copy the three files by hand and leave this script out.
import { cpSync } from "node:fs";
import { fileURLToPath } from "node:url";

const from = (path) => fileURLToPath(new URL(path, import.meta.url));
for (const name of ["chat-widget.js", "chat-widget.css"]) {
  cpSync(from(`../../services/gateway/site/${name}`), `public/${name}`);
}
cpSync(from("bot-proxy.ts"), `${process.argv[2]}/bot-proxy.ts`);
