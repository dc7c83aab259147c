import type { Metadata } from "next";
import Link from "next/link";
import Script from "next/script";
import type { ReactNode } from "react";

import "./site.css";

export const metadata: Metadata = { title: "My portfolio" };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Home</Link> <Link href="/about">About</Link>
        </nav>
        <main>{children}</main>
        <Script src="/chat-widget.js" data-api-url="/api/chat" strategy="lazyOnload" />
      </body>
    </html>
  );
}
