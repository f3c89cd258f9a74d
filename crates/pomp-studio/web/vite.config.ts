import { defineConfig } from "vite";

// One script and one style sheet; seal.mjs puts both into one page.
export default defineConfig({
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1024,
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
