/// The head of the request before: a client sends the same one with each request of a connection, but for the length of
/// the body. What was read of it once is not read again.
struct FormerHead {
    /// Longest head that is kept: many connections wait for their next request.
    private static let longest = 1_024

    private let head: HTTPHead
    /// Its bytes before and behind the digits of the length.
    private let (before, behind): ([UInt8], [UInt8])

    /// Keeps `head`, which was read of `bytes`; nil for one whose body has no length, or that is long.
    init?(_ head: HTTPHead, of bytes: ArraySlice<UInt8>) {
        guard bytes.count <= Self.longest, !head.expectsContinue, let digits = Self.lengthDigits(in: bytes) else {
            return nil
        }
        self.head = head
        (before, behind) = (Array(bytes[..<digits.lowerBound]), Array(bytes[digits.upperBound...]))
    }

    /// The head of `bytes`, which end with an empty line, if it differs in no more than the digits of a length that is
    /// allowed.
    func head(of bytes: ArraySlice<UInt8>, _ limits: HTTPLimits) -> HTTPHead? {
        let count = bytes.count - before.count - behind.count
        guard (1...18).contains(count), bytes.starts(with: before), bytes.suffix(behind.count).elementsEqual(behind)
        else { return nil }
        let digits = bytes.dropFirst(before.count).prefix(count)
        var length = 0
        for digit in digits {
            guard (0x30...0x39).contains(digit) else { return nil }
            length = length * 10 + Int(digit - 0x30)
        }
        guard length <= limits.bodyBytes else { return nil }
        return head.again(length: length, digits: String(decoding: digits, as: UTF8.self))
    }

    /// Where the digits of Content-Length are, of which there is one.
    private static func lengthDigits(in bytes: ArraySlice<UInt8>) -> Range<Int>? {
        var rest = bytes
        while let feed = rest.firstIndex(of: HTTPLine.lineFeed) {
            let line = rest[..<feed].dropLast()
            rest = rest[(feed + 1)...]
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
                String(decoding: line[..<colon], as: UTF8.self).lowercased() == HTTPHead.lengthName
            else { continue }
            let digits = HTTPLine.trimmed(line[(colon + 1)...])
            return digits.startIndex..<digits.endIndex
        }
        return nil
    }
}
