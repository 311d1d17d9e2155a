/// Variables in the values of the configuration file: `${NAME}`, `${NAME:-default}`, and `$${` for a literal `${`.
///
/// As in shells, `:-` gives the default for a variable that is empty, too; elsewhere an empty variable counts as not
/// set, like the variables `KYMO_…`.
enum VariableText {
    /// Why a text cannot be completed.
    struct Problem: Error {
        /// How many `${` come before the one at fault.
        var number: Int
        /// What is wrong, in a sentence without final stop.
        var message: String
        /// What to do.
        var advice: String
    }

    /// `text` with the values of its variables.
    ///
    /// - Throws: ``Problem`` with the first reference that has no value or is not in the form.
    static func expanding(_ text: String, _ variables: [String: String]) throws(Problem) -> String {
        var (result, rest, number) = ("", text[...], 0)
        while let mark = rest.firstRange(of: "${") {
            let before = rest[..<mark.lowerBound]
            rest = rest[mark.upperBound...]
            if before.hasSuffix("$") {
                result += before.dropLast() + "${"
            } else {
                guard let end = rest.firstIndex(of: "}") else {
                    throw Problem(number: number, message: "'${' has no '}'", advice: "add it, or write $${ for '${'")
                }
                result += before
                result += try value(of: rest[..<end], variables, number)
                rest = rest[end...].dropFirst()
            }
            number += 1
        }
        return result + rest
    }

    /// `text` in the form that ``expanding(_:_:)`` gives back.
    static func escaping(_ text: String) -> String { text.replacing("${", with: "$${") }

    /// The value of what stands between the braces.
    private static func value(
        of reference: Substring, _ variables: [String: String], _ number: Int
    ) throws(Problem) -> Substring {
        let name = reference.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        let rest = reference[name.endIndex...]
        guard let first = name.first, !first.isNumber, rest.isEmpty || rest.hasPrefix(":-") else {
            throw Problem(
                number: number, message: "'${\(reference)}' is no variable",
                advice: "write ${NAME} or ${NAME:-default}, with letters, digits and _ in the name, or $${ for '${'")
        }
        if let value = variables[String(name)], !value.isEmpty { return value[...] }
        guard rest.isEmpty else { return try fallback(rest.dropFirst(2), number) }
        throw Problem(
            number: number, message: "the variable \(name) is not set",
            advice: "set it in the environment, or write ${\(name):-default}")
    }

    private static func fallback(_ text: Substring, _ number: Int) throws(Problem) -> Substring {
        guard !text.contains("${") else {
            throw Problem(
                number: number, message: "a default cannot hold another variable", advice: "write the value itself")
        }
        return text
    }
}
