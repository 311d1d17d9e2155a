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

    /// Stands behind the name of the peer, at the end of the details of dead letters, with the identifier in full.
    var text: String {
        switch self {
        case .unknown: ""
        case .absent: Self.absentText
        case .patient(let bytes): Self.patientText + IdentifierEscapes.text(bytes)
        }
    }

    /// Divides `text`, the name of a peer with ``text`` behind it. What is not exactly as ``text`` has it is a part of
    /// the name.
    static func divided(_ text: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, patient: FixedPatient) {
        let absent = Array(absentText.utf8)
        if text.suffix(absent.count) == absent[...] { return (text.dropLast(absent.count), .absent) }
        guard let place = text.ranges(of: Array(patientText.utf8)).last,
            let bytes = IdentifierEscapes.bytes(text[place.upperBound...])
        else { return (text, .unknown) }
        return (text[..<place.lowerBound], .patient(bytes))
    }
}
