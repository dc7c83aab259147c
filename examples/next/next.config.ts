import type { NextConfig } from "next";

const config: NextConfig = {
  images: { unoptimized: true },
  poweredByHeader: false,
  turbopack: { root: import.meta.dirname },
};

export default config;
