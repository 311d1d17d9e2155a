/// How an envelope has a property of which nobody can tell what it says: as an object with the bytes that were sent.
///
/// Whose a reading is, and when it was made, is not read from it, and not taken from elsewhere either: the reading is
/// rejected.
package enum UnclearProperty {
    /// What it begins with.
    package static let opening: StaticString = "{\"unclear\":["
    /// What it ends with.
    package static let closing: StaticString = "]}"

    /// Whether an object is one.
    static func isOne(_ object: ByteView) -> Bool {
        let opening = ByteView(opening)
        return object.count > opening.count && object[0..<opening.count].equals(opening)
    }
}
