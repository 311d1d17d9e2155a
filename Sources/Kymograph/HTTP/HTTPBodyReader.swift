/// Takes the body of a request from what its connection brings.
struct HTTPBodyReader {
    private enum State {
        /// So many bytes are still to come.
        case length(Int)
        /// The line with a chunk's size comes next.
        case size
        /// So many bytes of a chunk are still to come.
        case chunk(Int)
        /// The line end of a chunk comes next.
        case chunkEnd
        /// Lines after the last chunk, of which there were so many bytes.
        case trailer(Int)
        case done
    }

    /// Longest line with the size of a chunk.
    private static let longestSize = 256
    /// Fields that would change what was read already.
    private static let forbiddenInTrailer = ["content-length", "transfer-encoding", "host"]

    private var state: State
    private let limits: HTTPLimits
    /// What it consists of so far.
    private(set) var bytes: ArraySlice<UInt8> = []
    private var trailerFields = 0

    init(_ body: HTTPHead.Body, _ limits: HTTPLimits) {
        self.limits = limits
        switch body {
        case .length(let count): state = count > 0 ? .length(count) : .done
        case .chunked: state = .size
        }
    }

    /// Whether there is no body, or it has ended.
    var isDone: Bool { if case .done = state { true } else { false } }

    /// Takes what belongs to the body from the front of `input`.
    ///
    /// - Throws: ``HTTPRefusal`` when chunks are not well-formed, or the body is too large.
    mutating func take(from input: inout ArraySlice<UInt8>) throws(HTTPRefusal) {
        while try step(&input) {}
    }

    /// Does one thing; false when it is done, or needs more.
    private mutating func step(_ input: inout ArraySlice<UInt8>) throws(HTTPRefusal) -> Bool {
        switch state {
        case .done: return false
        case .length(let left): return copy(left, &input) { $0 > 0 ? .length($0) : .done }
        case .chunk(let left): return copy(left, &input) { $0 > 0 ? .chunk($0) : .chunkEnd }
        case .size:
            guard let line = try line(&input) else { return false }
            let size = try chunkSize(line)
            guard bytes.count + size <= limits.bodyBytes else { throw .tooLarge(limits) }
            state = size > 0 ? .chunk(size) : .trailer(0)
        case .chunkEnd:
            guard input.count >= 2 else { return false }
            guard input.prefix(2).elementsEqual([HTTPLine.carriageReturn, HTTPLine.lineFeed]) else {
                throw .malformed("a chunk is longer than its size")
            }
            input = input.dropFirst(2)
            state = .size
        case .trailer(let size):
            guard let line = try line(&input, longest: limits.headBytes - size) else { return false }
            try take(trailer: line, size)
        }
        return true
    }

    private mutating func copy(_ left: Int, _ input: inout ArraySlice<UInt8>, _ next: (Int) -> State) -> Bool {
        let part = input.prefix(left)
        guard !part.isEmpty else { return false }
        // A body that came as a whole is not copied.
        if bytes.isEmpty, part.count == left { bytes = part } else { bytes += part }
        input = input.dropFirst(part.count)
        state = next(left - part.count)
        return true
    }

    /// The next line without its end, nil while it is not complete.
    private func line(
        _ input: inout ArraySlice<UInt8>, longest: Int = HTTPBodyReader.longestSize
    ) throws(HTTPRefusal) -> ArraySlice<UInt8>? {
        let end = try HTTPLine.end(in: input)
        guard (end ?? input.endIndex) - input.startIndex <= longest else {
            throw HTTPRefusal(status: 431, message: "a line of its chunks or of its trailer is too long")
        }
        guard let end else { return nil }
        let line = input[..<(end - 2)]
        input = input[end...]
        return line
    }

    /// The size in the line before a chunk: hexadecimal digits, and extensions that are not looked at.
    private func chunkSize(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") }
        let isHexadecimal = digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit && $0 < 0x80 }
        guard !digits.isEmpty, digits.count <= 15, isHexadecimal, line.allSatisfy(HTTPLine.isValue),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .malformed("the size of a chunk is not a hexadecimal number") }
        return size
    }

    private mutating func take(trailer line: ArraySlice<UInt8>, _ size: Int) throws(HTTPRefusal) {
        guard !line.isEmpty else { return state = .done }
        trailerFields += 1
        let end = [HTTPLine.carriageReturn, HTTPLine.lineFeed]
        let fields = try HTTPHead.fields((line + end)[...], limits)
        guard trailerFields <= limits.fields else {
            throw HTTPRefusal(status: 431, message: "its trailer has more than \(limits.fields) fields")
        }
        guard !fields.contains(where: { Self.forbiddenInTrailer.contains($0.name) }) else {
            throw .malformed("its trailer has a field that belongs in the header")
        }
        state = .trailer(size + line.count + 2)
    }
}
