import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const repository = fileURLToPath(new URL("..", import.meta.url));

// A strict Content-Security-Policy serves these pages: no script, style or image stands in the page itself.
export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: `${repository}/src/greenroom/playground/static`,
    emptyOutDir: true,
    assetsDir: "assets",
    assetsInlineLimit: 0,
    target: "es2023",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "react", test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
            { name: "tanstack", test: /node_modules[\\/]@tanstack[\\/]/ },
          ],
        },
      },
    },
  },
  server: {
    fs: { allow: [repository] },
    // `greenroom playground --port 8765`, then `npm run dev`: the pages of Vite over the API of Greenroom.
    proxy: { "/api": { target: process.env.GREENROOM_PLAYGROUND ?? "http://127.0.0.1:8765" } },
  },
  test: {
    include: ["tests/**/*.test.ts", "tests/**/*.test.tsx"],
    environment: "node",
    // Properties try many cases, and the machine may be busy.
    testTimeout: 120_000,
  },
});
