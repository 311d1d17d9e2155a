import Foundation
import PackagePlugin

/// Compiles the mapping catalogue and the pages of the console into the target it is attached to, so that `kymo` works
/// from any directory.
///
/// The files under `mappings/` and `Sources/ConsolePages/` are not listed as inputs: SwiftPM asks a plugin again only
/// when a target's own sources change, so that a file added later would be missed, and a file deleted later would stop
/// the build. Instead the command runs in every build, because it touches an input of its own; that costs some
/// milliseconds, and nothing is compiled again unless one of them differs.
@main
struct EmbedMappingsPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let catalogue = context.package.directoryURL.appending(path: "mappings")
        let console = context.package.directoryURL.appending(path: "Sources/ConsolePages")
        let outputs = ["EmbeddedMappings.swift", "EmbeddedConsole.swift"].map {
            context.pluginWorkDirectoryURL.appending(path: $0)
        }
        let lastRun = context.pluginWorkDirectoryURL.appending(path: "last-run")
        if !FileManager.default.fileExists(atPath: path(lastRun)) {
            try Data().write(to: lastRun)
        }
        return [
            .buildCommand(
                displayName: "Embedding the mapping catalogue and the console",
                executable: try context.tool(named: "EmbedMappings").url,
                arguments: [path(catalogue), path(outputs[0]), path(console), path(outputs[1]), path(lastRun)],
                inputFiles: [catalogue, console, lastRun],
                outputFiles: outputs)
        ]
    }

    private func path(_ url: URL) -> String { url.path(percentEncoded: false) }
}
