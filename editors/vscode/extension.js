// The client of `sluice lsp`: it starts the server with the settings of the workspace, and again when these change.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

// Empty settings are left out, so that the server's own defaults hold.
function settings() {
  const given = vscode.workspace.getConfiguration("sluice");
  const options = {
    defines: given.get("defines"),
    includeDirs: given.get("includeDirs"),
    fpRelaxed: given.get("fpRelaxed"),
    fpc: given.get("fpc"),
  };
  const board = given.get("board");
  return board ? { ...options, board } : options;
}

async function start() {
  const command = vscode.workspace.getConfiguration("sluice").get("command");
  const server = { command, args: ["lsp"] };
  client = new LanguageClient("sluice", "sluice", server, {
    documentSelector: [{ scheme: "file", language: "opencl" }],
    initializationOptions: settings(),
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `sluice: cannot start "${command} lsp" (${error.message}). Install it with pip install "sluice-hls[editor]", ` +
        "or name the program in the setting sluice.command."
    );
  }
}

async function stop() {
  const before = client;
  client = undefined;
  if (before && before.needsStop()) {
    await before.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("sluice.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => (change.affectsConfiguration("sluice") ? restart() : undefined))
  );
  await start();
}

module.exports = { activate, deactivate: stop };
