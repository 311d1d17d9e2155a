/// Numbers of things as people read them.
enum CountText {
    /// `1 error`, `2 errors`.
    static func of(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
