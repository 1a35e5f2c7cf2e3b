import { defineConfig } from "vite";

/** The dashboard's pages: one script, one style sheet, nothing from elsewhere. */
export default defineConfig({
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
