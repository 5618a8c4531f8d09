import { defineConfig } from "vite";

// The build is committed and embedded in the binary, so equal sources must give equal files: names carry a hash of
// the content, and nothing of the machine or the time is written.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../crates/web/dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: true,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8147" } },
});
