package import KymographCore

/// How the bytes of a stream become payloads.
package enum StreamFraming: Hashable, Sendable {
    /// NDJSON: one payload a line.
    case lines
    /// Any other way.
    case frames(Framing)
    /// JSON documents over any number of lines.
    case documents
    /// A table of text.
    case table(TableFraming)
    /// What a Bluetooth tool writes to its terminal: its packets become frames of a bridge, everything else is passed
    /// over.
    case capture(CaptureFraming)
    /// One that this module does not have.
    case custom(CustomFraming)

    /// Whether nothing but the content of payloads tells when their beginning or end is missing. Where borders are told
    /// by lengths, all that comes after a wrong beginning is wrong, and not the first payload only.
    var hidesCuts: Bool {
        switch self {
        case .lines, .documents, .table: true
        case .capture: false
        case .custom(let framing): framing.hidesCuts
        case .frames(let framing):
            switch framing.borders {
            case .delimiter, .slip, .cobs: framing.check == .none
            case .length, .fixed: false
            }
        }
    }
}

/// What the output of a Bluetooth tool does not say.
package struct CaptureFraming: Hashable, Sendable {
    /// Device of packets whose own is not told; nil for the source's default.
    package var device: IdentifierText?
    /// Minutes that device clocks are ahead of UTC; ``UTCOffset/none`` when nobody knows.
    package var offsetMinutes = UTCOffset.none

    /// Knows neither.
    package init() {}
}

/// A framing from outside of this module.
public struct CustomFraming: Hashable, Sendable {
    /// The framing as one writes it, with its options. Two of one text are the same.
    package let text: String
    /// Whether nothing but the content of payloads tells when their beginning or end is missing, as on a serial line.
    package let hidesCuts: Bool
    private let make: @Sendable (Int) -> any StreamProtocol

    /// Makes a framing that people write as `text`, options included. `hidesCuts` says whether nothing but the content
    /// of payloads tells when their beginning or end is missing. `make` opens it for one stream, with the longest
    /// payload in bytes, on the thread of the lane that reads the stream.
    public init(text: String, hidesCuts: Bool, make: @escaping @Sendable (Int) -> any StreamProtocol) {
        self.text = text
        self.hidesCuts = hidesCuts
        self.make = make
    }

    /// Opens it for one stream.
    func open(cap: Int) -> any StreamProtocol { make(cap) }

    /// Whether both are written alike.
    public static func == (one: CustomFraming, other: CustomFraming) -> Bool { one.text == other.text }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
