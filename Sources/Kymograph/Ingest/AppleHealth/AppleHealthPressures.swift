import KymographCore

/// Systolic and diastolic pressures that stand alone in an export. Those of a pair come once more in the pair, later in
/// the file, and are left out: the pair is the reading.
struct AppleHealthPressures {
    private static let beginning: StaticString = "<Record type=\"HKQuantityTypeIdentifierBloodPressure"
    /// Most bytes that are held; further pressures are handed on as they come.
    private static let mostBytes = 64 << 20

    /// Their documents, in the order of the file; nil once a pair has had one.
    private var documents: [[UInt8]?] = []
    /// Where the documents of a record are.
    private var places: [[UInt8]: [Int]] = [:]
    private var bytes = 0

    /// Nothing is held yet.
    init() {}

    /// Keeps `document` back if the element `raw` is a pressure.
    mutating func hold(_ raw: ByteView, _ document: ByteView) -> Bool {
        guard Self.isPressure(raw), bytes < Self.mostBytes, let key = Self.firstTag(of: raw) else { return false }
        bytes += key.count + document.count
        places[key, default: []].append(documents.count)
        documents.append(document.array)
        return true
    }

    /// Notes that a pair has the record whose first tag is `tag` in `bytes`.
    mutating func pair(_ tag: XMLTag, _ bytes: ByteView) {
        guard Self.isPressure(bytes), let place = places[Self.key(of: tag, bytes)]?.popLast() else { return }
        documents[place] = nil
    }

    /// The documents that no pair has had.
    mutating func takeRest() -> [[UInt8]] {
        defer { self = AppleHealthPressures() }
        return documents.compactMap { $0 }
    }

    private static func isPressure(_ bytes: ByteView) -> Bool {
        let beginning = ByteView(beginning)
        return bytes.count > beginning.count && bytes[0..<beginning.count].equals(beginning)
    }

    /// The key of the record whose bytes are `raw`.
    private static func firstTag(of raw: ByteView) -> [UInt8]? {
        var end = raw.firstIndex(of: UInt8(ascii: ">"), from: 0)
        while let last = end {
            // One within a value ends no tag.
            if let tag = raw[0..<(last + 1)].withPadding({ XMLTag($0) }) { return key(of: tag, raw) }
            end = raw.firstIndex(of: UInt8(ascii: ">"), from: last + 1)
        }
        return nil
    }

    /// What is the same of a record that stands alone and in a pair: all but the device, which is described with an
    /// address in the phone's memory.
    private static func key(of tag: XMLTag, _ bytes: ByteView) -> [UInt8] {
        var writer = ByteWriter(capacity: 512)
        for attribute in tag.attributes where !bytes[attribute.name].equals(ByteView("device")) {
            writer.append(bytes[attribute.name])
            writer.append("=")
            writer.append(bytes[attribute.value])
            writer.append(" ")
        }
        return writer.view.array
    }
}
