import Foundation
import PackagePlugin

/// Compiles the mapping catalogue into the target it is attached to, so that `kymo` works from any directory.
///
/// The files under `mappings/` are not listed as inputs: SwiftPM asks a plugin again only when a target's own sources
/// change, so that a file added later would be missed, and a file deleted later would stop the build. Instead the
/// command runs in every build, because it touches an input of its own; that costs some milliseconds, and nothing is
/// compiled again unless the catalogue differs.
@main
struct EmbedMappingsPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let catalogue = context.package.directoryURL.appending(path: "mappings")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedMappings.swift")
        let lastRun = context.pluginWorkDirectoryURL.appending(path: "last-run")
        if !FileManager.default.fileExists(atPath: path(lastRun)) {
            try Data().write(to: lastRun)
        }
        return [
            .buildCommand(
                displayName: "Embedding the mapping catalogue",
                executable: try context.tool(named: "EmbedMappings").url,
                arguments: [path(catalogue), path(output), path(lastRun)],
                inputFiles: [catalogue, lastRun],
                outputFiles: [output])
        ]
    }

    private func path(_ url: URL) -> String { url.path(percentEncoded: false) }
}
