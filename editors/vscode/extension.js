// Starts `agon lsp` for GDL files, and opens a terminal for the lenses "play" and "analyse".
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function inTerminal(command) {
  return (address) => {
    const program = vscode.workspace.getConfiguration("agon").get("path", "agon");
    const path = vscode.Uri.parse(address).fsPath;
    const terminal = vscode.window.createTerminal({ name: `agon ${command}`, shellPath: program, shellArgs: [command, path] });
    terminal.show();
  };
}

function activate(context) {
  const program = vscode.workspace.getConfiguration("agon").get("path", "agon");
  client = new LanguageClient(
    "agon",
    "GDL (Agon)",
    { command: program, args: ["lsp"] },
    {
      documentSelector: [{ language: "gdl" }],
      middleware: {
        // The commands of lenses are handled here, not by the server.
        executeCommand: (command, args, next) => {
          if (command === "agon.play") return inTerminal("play")(args[0]);
          if (command === "agon.analyse") return inTerminal("analyse")(args[0]);
          return next(command, args);
        },
      },
    },
  );
  context.subscriptions.push({ dispose: () => client.stop() });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
