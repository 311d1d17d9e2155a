/// Numbers of things as people read them.
package enum CountText {
    /// `1 error`, `2 errors`: of a noun whose plural has an `s` more.
    package static func of(_ number: Int, _ noun: String) -> String { of(number, one: noun, many: noun + "s") }

    /// `number` with the words for one thing, or for any other number of them: `1 entry was`, `2 entries were`.
    package static func of(_ number: Int, one: String, many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
