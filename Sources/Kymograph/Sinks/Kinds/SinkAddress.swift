/// Where entries go: one place of one kind of sink.
///
/// A kind is one type in a file of its own, with its ``SinkDescriptor``, and one row in ``SinkKinds/builtIn``.
package protocol SinkAddress: Hashable, Sendable {
    /// What all sinks of the kind have in common.
    static var descriptor: SinkDescriptor { get }

    /// The place as the configuration has it.
    var text: String { get }

    /// The name in messages and receipts, and under which progress is kept, where the configuration states none.
    /// Default: the kind's key, a space and the place.
    var name: String { get }

    /// What no two sinks can both write to; nil where several can. Default: the name.
    var claim: String? { get }

    /// What to do about two sinks of one ``claim``. Default: make one of them.
    var claimAdvice: String { get }

    /// Where it makes and changes files. Default: nowhere.
    var writePlaces: [WritePlace] { get }

    /// What is wrong with it in a configuration that says `circumstances`. Default: nothing.
    func findings(_ circumstances: SinkCircumstances) -> [SinkFinding]

    /// What would keep it from being opened as the machine is now. Nothing is made or changed. Default: nothing.
    func obstacles(_ opening: SinkOpening) -> [SinkObstacle]

    /// Asks what is behind it, where that can be asked, and waits for the answer. What it says that is no fault has the
    /// status 0. Default: nothing.
    func answer(_ opening: SinkOpening) -> [SinkObstacle]

    /// Opens it.
    ///
    /// - Throws: ``SinkError`` that names the place and says what to do.
    func open(_ opening: SinkOpening) throws(SinkError) -> OpenedSink
}

extension SinkAddress {
    /// What all sinks of the kind have in common.
    package var kind: SinkDescriptor { Self.descriptor }
    /// The kind's key and the place.
    package var name: String { "\(kind.key) \(text)" }
    /// The name.
    package var claim: String? { name }
    /// Make one of them.
    package var claimAdvice: String { "make one of them" }
    /// Nowhere.
    package var writePlaces: [WritePlace] { [] }
    /// Nothing.
    package func findings(_ circumstances: SinkCircumstances) -> [SinkFinding] { [] }

    /// Nothing.
    package func obstacles(_ opening: SinkOpening) -> [SinkObstacle] { [] }
    /// Nothing.
    package func answer(_ opening: SinkOpening) -> [SinkObstacle] { [] }

    /// Whether `other` is the same place of the same kind.
    func isSame(as other: any SinkAddress) -> Bool { other as? Self == self }
}
