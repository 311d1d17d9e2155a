package import KymographCore

/// Names of the types whose readings a sink has taken, each once. The name is the third part of an entry's identity
/// (docs/identity.md), and what an event says; who knows the types looks whether it is one.
package struct ReadingTypes: Sendable {
    /// As they are written in the identity. Those that come often are in front: a sink takes thousands of entries of a
    /// few types.
    private var texts: [[UInt8]] = []

    /// None.
    package init() {}

    /// Notes what `entry` shows readings of; nothing for a Patient or Device.
    package mutating func note(_ entry: Entry) {
        guard let text = ReadingTypes.text(entry) else { return }
        guard let place = texts.firstIndex(where: { text.equals($0) }) else { return texts.append(text.array) }
        texts.swapAt(place, place / 2)
    }

    /// Notes what the entries of `block` show readings of; nothing when it is none.
    package mutating func note(_ block: ByteView, _ index: inout EntryIndex) {
        guard let block = index.read(block) else { return }
        for number in 0..<block.count { note(block[number]) }
    }

    /// The names since the last call.
    package mutating func take() -> Set<String> {
        defer { texts = [] }
        return Set(texts.map { $0.withByteView(ReadingTypes.plain) })
    }

    /// The name of the type that `entry` shows readings of; nil for what is of none.
    package static func name(of entry: Entry) -> String? { text(entry).map(plain) }

    private static func text(_ entry: Entry) -> ByteView? {
        switch entry.kind {
        case .event: return entry.type
        case .patient, .device, .describedDevice, .gateway: return nil
        case .observation, .resource: break
        }
        let identity = entry.whole.count > 0 ? entry.whole : entry.value
        var place = 0
        for _ in 0..<2 {
            while place < identity.count, identity[place] != UInt8(ascii: ".") { place += 1 }
            place += 1
        }
        guard place < identity.count else { return nil }
        var end = place
        while end < identity.count, identity[end] != UInt8(ascii: ".") { end += 1 }
        return end > place && end < identity.count ? identity[place..<end] : nil
    }

    private static func plain(_ text: ByteView) -> String {
        guard text.firstIndex(of: UInt8(ascii: "%"), from: 0) != nil else { return text.string }
        return text.string.replacing("%2E", with: ".").replacing("%25", with: "%")
    }
}
