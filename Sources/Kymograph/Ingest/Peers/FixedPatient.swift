import KymographCore

/// Whether a peer had one patient for all its readings when something came of it, and which: dead letters keep it,
/// since lists of peers change.
package enum FixedPatient: Hashable, Sendable {
    /// Not known: no list knew the peer, or an earlier version wrote the letter.
    case unknown
    /// Its readings were of whom they named.
    case absent
    /// Its readings were of this one.
    case patient([UInt8])

    private static let (absentText, patientText) = (", of no fixed patient", ", of the patient ")

    /// Whether what came then may be filed under a rule that has `now`.
    func permits(_ now: FixedPatient) -> Bool { self == now || self == .unknown && now == .absent }

    /// Stands behind the name of the peer, at the very end of the details of dead letters. The identifier is there in
    /// full: bytes other than letters, digits, `-`, `.`, `_` and `~` as in URLs (RFC 3986, section 2.1).
    var text: String {
        switch self {
        case .unknown: ""
        case .absent: Self.absentText
        case .patient(let bytes): Self.patientText + bytes.map(Self.text).joined()
        }
    }

    /// Divides `text`, the name of a peer with ``text`` behind it. What is not exactly as ``text`` has it is a part of
    /// the name.
    static func divided(_ text: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, patient: FixedPatient) {
        let absent = Array(absentText.utf8)
        if text.suffix(absent.count) == absent[...] { return (text.dropLast(absent.count), .absent) }
        guard let place = text.ranges(of: Array(patientText.utf8)).last,
            let bytes = bytes(text[place.upperBound...])
        else { return (text, .unknown) }
        return (text[..<place.lowerBound], .patient(bytes))
    }

    private static func text(_ byte: UInt8) -> String {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            String(UnicodeScalar(byte))
        default: (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
        }
    }

    /// The identifier that ``text`` has written so; nil for anything else.
    private static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard let bytes = PercentEscapes.strictlyDecoded(text), !bytes.isEmpty,
            bytes.map(Self.text).joined().utf8.elementsEqual(text)
        else { return nil }
        return bytes
    }
}
