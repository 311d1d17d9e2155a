import KymographCore

/// The parts of a record's `device`, which is Foundation's description of an `HKDevice`:
///
///     <<HKDevice: 0x281d0e2b0>, name:Apple Watch, manufacturer:Apple Inc., hardware:Watch6,2, software:9.2>
///
/// Values may have commas: each ends where the next part begins whose name is known.
struct AppleHealthDevice: ~Copyable {
    private static let parts: [StaticString] = [
        "name", "manufacturer", "model", "hardware", "firmware", "software", "localIdentifier", "creation date",
    ]
    /// Of no use to others: when the phone has noted the device.
    private static let left: StaticString = "creation date"

    /// What the last device was, behind the address in the phone's memory, and its parts as JSON: most records have
    /// that of the one before.
    private var known: [UInt8] = []
    private var json = ByteWriter(capacity: 256)
    private var decoded = ByteWriter(capacity: 256)

    /// Appends the member `deviceParts` of what `described` says, if that is a description.
    mutating func append(_ described: ByteView, to text: inout ByteWriter) {
        guard let start = described.firstIndex(of: UInt8(ascii: ","), from: 0) else { return }
        let rest = described[start..<described.count]
        if !rest.equals(known) { read(rest) }
        text.append(json.view)
    }

    private mutating func read(_ rest: ByteView) {
        known = rest.array
        json.removeAll()
        decoded.removeAll()
        guard XMLText.append(rest, to: &decoded), decoded.count > 0,
            decoded.view[decoded.count - 1] == UInt8(ascii: ">")
        else { return }
        let description = decoded.view(0..<(decoded.count - 1))
        for (place, part) in Self.found(in: description) { append(part, description[place], isFirst: json.count == 0) }
        if json.count > 0 { json.append("}") }
    }

    private mutating func append(_ part: StaticString, _ value: ByteView, isFirst: Bool) {
        guard value.count > 0, !ByteView(part).equals(ByteView(Self.left)) else { return }
        json.append(isFirst ? ByteView(",\"deviceParts\":{\"") : ByteView(",\""))
        json.append(ByteView(part))
        json.append("\":\"")
        json.appendJSON(value)
        json.append("\"")
    }

    /// The values of the parts that `description` has, in its order.
    private static func found(in description: ByteView) -> [(Range<Int>, StaticString)] {
        var found: [(start: Int, value: Int, part: StaticString)] = []
        var place = 0
        while let comma = description.firstIndex(of: UInt8(ascii: ","), from: place) {
            place = comma + 1
            let rest = description[place..<description.count]
            guard let part = parts.first(where: { begins(rest, $0) }), !found.contains(where: { same($0.part, part) })
            else { continue }
            // Behind the blank and the colon.
            found.append((comma, place + ByteView(part).count + 2, part))
        }
        return found.indices.map { index in
            let end = index + 1 < found.count ? found[index + 1].start : description.count
            return (found[index].value..<end, found[index].part)
        }
    }

    private static func same(_ one: StaticString, _ other: StaticString) -> Bool {
        ByteView(one).equals(ByteView(other))
    }

    /// Whether `rest` begins with a blank, the name of `part` and a colon.
    private static func begins(_ rest: ByteView, _ part: StaticString) -> Bool {
        let name = ByteView(part)
        return rest.count >= name.count + 2 && rest[0] == 0x20 && rest[name.count + 1] == UInt8(ascii: ":")
            && rest[1..<(name.count + 1)].equals(name)
    }
}
