import node from "@astrojs/node";
import { defineConfig, passthroughImageService } from "astro/config";

export default defineConfig({
  // Pages stay static; only src/pages/api runs on the server.
  adapter: node({ mode: "standalone" }),
  image: { service: passthroughImageService() },
  // No script or style inside the pages, so that the policy in the layout needs no 'unsafe-inline'.
  build: { inlineStylesheets: "never" },
  vite: { build: { assetsInlineLimit: 0 } },
});
