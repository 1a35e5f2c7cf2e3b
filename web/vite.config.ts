import { defineConfig } from "vite";

/** The dashboard's pages: one script, one style sheet, nothing from elsewhere. */
export default defineConfig({
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Names without a hash: two builds at the same time never leave a page without its script.
    rolldownOptions: {
      output: { entryFileNames: "assets/app.js", assetFileNames: "assets/app[extname]", codeSplitting: false },
    },
  },
});
