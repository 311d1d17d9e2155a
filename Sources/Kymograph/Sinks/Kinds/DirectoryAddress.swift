import KymographCore

/// Rotating files in a directory: `to: /var/lib/kymo/bundles`.
package struct DirectoryAddress: SinkAddress {
    /// The directory.
    package var path: String

    /// The kind.
    package static let descriptor = SinkDescriptor(
        key: "to", form: "directory", about: "Where bundles go", capabilities: [.files, .events]
    ) { (text) throws(SettingProblem) in
        guard !text.isEmpty else { throw .empty("directory, or stdout") }
        return DirectoryAddress(path: text)
    }

    /// The directory at `path`.
    package init(path: String) { self.path = path }

    /// The path.
    package var text: String { path }
    /// The name.
    package var name: String { "files \(path)" }
    /// The directory.
    package var writePlaces: [WritePlace] { [.folder(path)] }

    /// A directory that cannot be made, written to or locked, and a dictionary that cannot be read.
    package func obstacles(_ opening: SinkOpening) -> [SinkObstacle] {
        var found: [SinkObstacle] = []
        do throws(SinkError) { try OutputDirectory.probe(path) } catch { found.append(SinkObstacle(error)) }
        guard opening.rotation.compression != .none, let file = opening.dictionary else { return found }
        do throws(SinkError) { _ = try ZstdDictionary(path: file) } catch { found.append(SinkObstacle(error)) }
        return found
    }

    /// Locks the directory, and finishes what a crash left in it.
    ///
    /// - Throws: ``SinkError`` when the directory, a file in it or the dictionary cannot be used.
    package func open(_ opening: SinkOpening) throws(SinkError) -> OpenedSink {
        var options = opening.rotation
        if options.compression != .none, let file = opening.dictionary {
            options.dictionary = try ZstdDictionary(path: file)
        }
        let sink = try RotatingFileSink(directory: path, options: options)
        for file in sink.recovered { opening.note(Self.describe(file)) }
        return .writer(BundleWriter(sink), isSlow: options.compression != .none)
    }

    private static func describe(_ file: RecoveredFile) -> String {
        let part = file.isPartial ? ", which is only the beginning of a file," : ""
        let cut = file.bytesCut > 0 ? " without \(CountText.of(file.bytesCut, "byte")) of its unfinished line" : ""
        return "recovered \(file.name)\(part) of an earlier run that did not end well\(cut)"
    }
}
