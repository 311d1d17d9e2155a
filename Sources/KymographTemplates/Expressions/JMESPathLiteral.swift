import KymographCore

/// JSON literals of expressions.
extension JMESPathProgram {
    /// Adds the JSON value `json`, which starts behind the backtick at `offset`, and gives its place.
    mutating func constant(json: String, offset: Int) throws(ExpressionError) -> Int32 {
        let padded = PaddedBytes(copying: json.utf8)
        var scanner = JSONScanner(
            names: NameTable([]), limits: ScanLimits(), marksUnnamed: true, buildsProperties: false,
            payloadIsRoot: true)
        var end = 0
        do throws(ScanFailure) {
            end = JSONScanner.skipSpace(padded.view, try scanner.scan(padded.view, from: 0))
        } catch {
            throw JMESPathProgram.notJSON(json, offset + 1 + error.offset)
        }
        guard end == json.utf8.count else { throw JMESPathProgram.notJSON(json, offset + 1 + end) }
        let place = Int32(constants.count)
        append(scanner.tape, of: padded.view)
        return place
    }

    private static func notJSON(_ json: String, _ offset: Int) -> ExpressionError {
        ExpressionError(
            message: "`\(json)` is no JSON; a text is written as '\(json)' or `\"\(json)\"`", offset: offset)
    }

    private mutating func append(_ tape: borrowing RawArray<Token>, of bytes: ByteView) {
        let textStart = literals.count
        let tokenShift = constants.count - JSONScanner.payload
        literals += bytes.array
        for index in JSONScanner.payload..<tape.count {
            var token = tape[index]
            token.start += UInt32(textStart)
            token.next = UInt32(Int(token.next) + tokenShift)
            token.name = NameTable.unknown
            setKey(of: &token, bytes, textStart)
            constants.append(token)
        }
    }

    /// Keys are kept without escapes.
    private mutating func setKey(of token: inout Token, _ bytes: ByteView, _ textStart: Int) {
        let key = bytes[token.keyRange]
        guard key.array.contains(UInt8(ascii: "\\")) else {
            token.keyStart += UInt32(textStart)
            return
        }
        let plain = Array(JSONUnescape.string(key).utf8)
        token.keyStart = UInt32(literals.count)
        token.keyLength = UInt32(plain.count)
        literals += plain
    }
}
