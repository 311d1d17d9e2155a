import KymographCore

/// An input of a target that needs more than one text: choices, one byte each, and lines come before the rest.
struct FuzzInput {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    /// What is left.
    var rest: [UInt8] { Array(bytes) }

    /// The next byte as a number below `count`: `a` is 0, so that inputs can be written by hand.
    mutating func choice(_ count: Int) -> Int { Int((bytes.popFirst() ?? 0x61) &- 0x61) % count }

    /// One of `choices`.
    mutating func choice<Element>(of choices: [Element]) -> Element { choices[choice(choices.count)] }

    /// The bytes up to the next `border`, which is left out; all that is left where there is none.
    mutating func part(upTo border: String = "\n") -> [UInt8] {
        let border = Array(border.utf8)
        var place = bytes.startIndex
        while place < bytes.endIndex, !bytes[place...].starts(with: border) { place += 1 }
        defer { bytes = bytes[min(place + border.count, bytes.endIndex)...] }
        return Array(bytes[..<place])
    }
}

/// How a stream may be cut: reading it gives the same.
enum Cuts {
    /// The stream as a whole, in pieces of `size` bytes, and with one byte between two pieces of that size.
    static func all(_ bytes: [UInt8], size: Int) -> [[[UInt8]]] {
        [[bytes], pieces(bytes, [size]), pieces(bytes, [size, 1])]
    }

    private static func pieces(_ bytes: [UInt8], _ sizes: [Int]) -> [[UInt8]] {
        var (pieces, start, turn): ([[UInt8]], Int, Int) = ([], 0, 0)
        while start < bytes.count {
            let end = min(bytes.count, start + sizes[turn % sizes.count])
            pieces.append(Array(bytes[start..<end]))
            (start, turn) = (end, turn + 1)
        }
        return pieces
    }
}
