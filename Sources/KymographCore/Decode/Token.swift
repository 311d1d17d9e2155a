/// What a token of the tape is.
package enum TokenKind {
    package static let object: UInt8 = 1
    package static let array: UInt8 = 2
    package static let string: UInt8 = 3
    package static let number: UInt8 = 4
    package static let yes: UInt8 = 5
    static let no: UInt8 = 6
    package static let null: UInt8 = 7
}

/// One value of a scanned document. Values lie on the tape in document order (pre-order), keys are part of their value.
package struct Token: BitwiseCopyable {
    /// A ``TokenKind``.
    package var kind: UInt8
    /// ``Token/escaped``, ``Token/shadowed``, ``Token/matched`` and ``Token/known``.
    var flags: UInt8 = 0
    /// The key's number in the ``NameTable``, or ``NameTable/unknown``.
    package var name: UInt16 = NameTable.unknown
    /// First byte: of a string the one after its quote, else of the value.
    package var start: UInt32
    /// Bytes: of a string those between its quotes, of a container those from bracket to bracket.
    var length: UInt32 = 0
    /// Index of the first token that is not inside this one.
    package var next: UInt32 = 0
    /// First byte of the key, when the value is a member of an object.
    package var keyStart: UInt32 = 0
    /// Bytes of the key.
    package var keyLength: UInt32 = 0

    /// Flag: the string holds backslash escapes.
    static let escaped: UInt8 = 1
    /// Flag: a later member of the same object has the same name, and the last one wins.
    static let shadowed: UInt8 = 2

    /// Flag: a template matched this token, so that elements of an array that nobody took are told.
    static let matched: UInt8 = 4

    /// Flag: the token is a time that has no text (``time``).
    static let known: UInt8 = 8

    /// Whether the token is an object or an array.
    @inline(__always)
    var isContainer: Bool { kind <= TokenKind.array }
    /// Whether a later duplicate of its key hides this value.
    @inline(__always)
    var isShadowed: Bool { flags & Token.shadowed != 0 }
    /// The bytes of the value in its document.
    @inline(__always)
    package var range: Range<Int> { Int(start)..<(Int(start) + Int(length)) }
    /// The bytes of the value with the quotes of a string.
    var outerRange: Range<Int> {
        kind == TokenKind.string ? (range.lowerBound - 1)..<(range.upperBound + 1) : range
    }
    /// The bytes of the key.
    package var keyRange: Range<Int> { Int(keyStart)..<(Int(keyStart) + Int(keyLength)) }
}

extension Token {
    /// Makes a token of a time that need not be read. No expression may look at its text.
    init(_ time: Timestamp, name: UInt16) {
        let nanoseconds = UInt64(bitPattern: time.instant.nanoseconds)
        self.init(
            kind: TokenKind.string, flags: Token.known, name: name, start: UInt32(truncatingIfNeeded: nanoseconds))
        length = UInt32(truncatingIfNeeded: nanoseconds >> 32)
        keyStart = UInt32(UInt16(bitPattern: time.form.rawValue))
    }

    /// The time of a token that is flagged as ``known``.
    var time: Timestamp {
        Timestamp(
            instant: Instant(nanoseconds: Int64(bitPattern: UInt64(length) << 32 | UInt64(start))),
            form: TimeForm(rawValue: Int16(bitPattern: UInt16(truncatingIfNeeded: keyStart))))
    }
}
