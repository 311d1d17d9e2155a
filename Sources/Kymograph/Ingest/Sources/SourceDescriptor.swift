/// A kind of source: what configuration, command line, documentation and `kymo dead replay` know of it.
public struct SourceDescriptor: Sendable {
    /// How the command line names a source of the kind.
    package enum Flag: Sendable {
        /// `--key VALUE`, which can be repeated.
        case option(help: String, valueName: String)
        /// `--key`, which stands for the value `true`.
        case toggle(help: String)
    }

    /// Key in the configuration, first word of names, flag, and end of the environment variable (`KYMO_UDP`).
    package var key: String
    /// What may be written as address, for people.
    package var form: String
    /// What the kind is, in a sentence without final stop.
    package var about: String
    /// The flag.
    package var flag: Flag
    /// What its sources can do.
    package var capabilities: SourceCapabilities
    /// Whether commas in the environment variable separate addresses; they are part of one otherwise.
    package var splitsAtCommas = true
    /// Most clients at a time, where the configuration names no number.
    package var connectionLimit = 1_024
    /// Reads an address as the configuration has it.
    package var parse: Parse

    /// Reads an address.
    package typealias Parse = @Sendable (String) throws(SettingProblem) -> any SourceAddress

    /// Makes a descriptor.
    package init(
        key: String, form: String, about: String, flag: Flag, capabilities: SourceCapabilities, parse: @escaping Parse
    ) {
        self.key = key
        self.form = form
        self.about = about
        self.flag = flag
        self.capabilities = capabilities
        self.parse = parse
    }

    /// Describes a kind that configurations name by `key`, which no other kind may have. `form` says for people what
    /// may be written as address, and `about` what the kind is, in a sentence without final stop. `parse` reads an
    /// address, and throws ``SettingProblem`` for a text that is none.
    public init(
        key: String, form: String, about: String, capabilities: SourceCapabilities,
        parse: @escaping @Sendable (_ text: String) throws(SettingProblem) -> any SourceAddress
    ) {
        self.init(
            key: key, form: form, about: about, flag: .option(help: about, valueName: form),
            capabilities: capabilities, parse: parse)
    }
}

/// What sources of a kind can do: which settings have an effect on them, and how their payloads may end.
public struct SourceCapabilities: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Takes the bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Bytes come without borders: a framing finds the payloads.
    public static let framing = SourceCapabilities(rawValue: 1)
    /// Clients connect.
    public static let clients = SourceCapabilities(rawValue: 1 << 1)
    /// Other machines can reach it: clients have addresses, and connections break within a payload.
    public static let network = SourceCapabilities(rawValue: 1 << 2)
    /// The source ends of its own, and the pipeline with its last source.
    public static let ends = SourceCapabilities(rawValue: 1 << 3)
    /// The kernel keeps what has not been read in a buffer whose size can be set.
    public static let receiveBuffer = SourceCapabilities(rawValue: 1 << 4)
    /// The kernel can hand over several datagrams as one message.
    public static let coalescing = SourceCapabilities(rawValue: 1 << 5)
    /// The address is a socket's file.
    public static let socketFile = SourceCapabilities(rawValue: 1 << 6)
    /// It can be told who sends: a list of peers has an effect.
    public static let peers = SourceCapabilities(rawValue: 1 << 8)
    /// It can speak TLS, or DTLS.
    package static let tls = SourceCapabilities(rawValue: 1 << 10)
    /// Its clients can show certificates.
    package static let clientCertificates = SourceCapabilities(rawValue: 1 << 11)
    /// Datagrams are of associations where it speaks DTLS.
    package static let associations = SourceCapabilities(rawValue: 1 << 12)
    /// It is a broker, to which kymo connects.
    package static let broker = SourceCapabilities(rawValue: 1 << 9)
    /// It is a topic of records, which keeps what is not read.
    package static let records = SourceCapabilities(rawValue: 1 << 13)
    /// A payload may have begun before the source was opened, and go on after it has gone.
    public static let openEnds = SourceCapabilities(rawValue: 1 << 7)
}
