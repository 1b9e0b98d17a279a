// Teaches JupyterLab's builder to read TypeScript.
module.exports = {
  module: {
    rules: [
      {
        test: /\.ts$/,
        loader: "builtin:swc-loader",
        options: { jsc: { parser: { syntax: "typescript" }, target: "es2022" } },
        type: "javascript/auto",
      },
    ],
  },
  resolve: { extensions: [".ts", ".js"] },
};
