/// Standard output: `to: stdout`.
package struct StandardOutputAddress: SinkAddress {
    /// The kind.
    package static let descriptor = SinkDescriptor(
        key: "to", form: "`stdout`", about: "Where bundles go", word: "stdout", capabilities: [.pipe, .events]
    ) { _ in StandardOutputAddress() }

    /// There is one.
    package init() {}

    /// As it is written.
    package var text: String { "stdout" }
    /// The name.
    package var name: String { text }

    /// Writes to it.
    ///
    /// - Throws: ``SinkError`` never: it is open already.
    package func open(_ opening: SinkOpening) throws(SinkError) -> OpenedSink {
        .writer(BundleWriter(StandardOutputSink()))
    }
}
