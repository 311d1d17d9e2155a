/// Where readings come from: one address of one kind of source.
///
/// A kind is one type in a file of its own, with its ``SourceDescriptor``. Of those of `kymo` each has one row in
/// `IngestKinds.builtIn`; a program names its own in ``EngineConfiguration/sourceKinds``.
public protocol SourceAddress: Hashable, Sendable {
    /// What all sources of the kind have in common.
    static var descriptor: SourceDescriptor { get }

    /// The name in messages, summaries and dead letters: the kind's key, a space and the address, such as
    /// `udp 127.0.0.1:5757`.
    var name: String { get }

    /// What no two sources can both have, as messages call it; nil for what the system chooses. Default: the name.
    var claim: String? { get }

    /// Whether several lanes can open it, and the kernel deals out among them what comes. Default: no.
    var isShareable: Bool { get }

    /// What is wrong with the address as `configuration` has it. Default: nothing.
    func problem(in configuration: SourceConfiguration) -> SettingProblem?

    /// Opens it, on the thread that makes the pipeline, before anything runs.
    ///
    /// - Throws: ``SourceError`` that names the address and says what to do.
    func open(_ configuration: SourceConfiguration) throws(SourceError) -> OpenedSource
}

extension SourceAddress {
    /// What all sources of the kind have in common.
    package var kind: SourceDescriptor { Self.descriptor }
    /// The name.
    public var claim: String? { name }
    /// No.
    public var isShareable: Bool { false }
    /// Nothing.
    public func problem(in configuration: SourceConfiguration) -> SettingProblem? { nil }
}

/// A source that can be tried without opening it for good.
package protocol ProbedSource: SourceAddress {
    /// Looks whether it could be opened. Nothing stays of that.
    ///
    /// - Throws: ``SourceError`` as opening it would; of kind ``SourceError/Kind/missing`` where a lane would wait.
    func probe(_ configuration: SourceConfiguration) throws(SourceError)
}

/// A source that can be asked whether it answers.
package protocol AnsweringSource: SourceAddress {
    /// Asks it, and waits for the answer. Nothing stays of that.
    ///
    /// - Throws: ``SourceError`` when it does not answer, or refuses; of kind ``SourceError/Kind/missing`` where a lane
    ///   would try again.
    func ask(_ configuration: SourceConfiguration) throws(SourceError)
}

/// A source that makes or changes files.
package protocol FileChangingSource: SourceAddress {
    /// Where.
    var writePlaces: [WritePlace] { get }
}

/// A source whose name says less than its address in the configuration.
package protocol WrittenSource: SourceAddress {
    /// The address as the configuration has it.
    var text: String { get }
}

/// A source that processes of this machine can send to, as `kymo dead replay` does.
package protocol RoutedSource: SourceAddress {
    /// How they send; nil where this address cannot be sent to.
    var route: SourceRoute? { get }
}

/// How a process of this machine sends to a source.
package enum SourceRoute: Hashable, Sendable {
    /// By UDP datagrams.
    case udp(NetworkAddress)
    /// By a TCP connection.
    case tcp(NetworkAddress)
    /// By a connection to a Unix stream socket.
    case unixStream(path: String)
    /// By messages of a connection to a Unix socket.
    case unixSeqpacket(path: String)
    /// By datagrams to a Unix socket.
    case unixDatagram(path: String)
}
