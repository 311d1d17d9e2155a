import KymographCore
import KymographTemplates

/// One key of the configuration: how its text is read into `Root`, and what the reference says about it.
package struct Setting<Root>: Sendable {
    /// Reads the texts, one unless the setting is a list.
    package typealias Read = @Sendable ([String], inout Root) throws(SettingProblem) -> Void

    /// Dotted name, as in `output.format`.
    package let key: String
    /// What may be written, for people.
    package let form: String
    /// What it is for, in a sentence without final stop.
    package let about: String
    /// The same for programs; of each element, where it is a list.
    package let values: SettingValues
    /// The elements of a setting that takes several texts; nil for one that takes one.
    package let elements: (@Sendable (Root) -> [String])?
    package let read: Read
    /// The value in `Root` as one would write it; empty when there is none.
    package let shown: @Sendable (Root) -> String

    /// A setting; `shown` gives its value as one would write it, and `elements` those of a list.
    package init(
        key: String, form: String, about: String, values: SettingValues = .text,
        elements: (@Sendable (Root) -> [String])? = nil, read: @escaping Read,
        shown: @escaping @Sendable (Root) -> String
    ) {
        (self.key, self.form, self.about, self.values) = (key, form, about, values)
        (self.elements, self.read, self.shown) = (elements, read, shown)
    }

    /// Whether it takes several texts.
    package var isList: Bool { elements != nil }

    /// The texts that give `root` its value; none when there is no value.
    func texts(_ root: Root) -> [String] {
        if let elements { return elements(root) }
        let text = shown(root)
        return text.isEmpty ? [] : [text]
    }

    /// The environment variable: `output.maxAge` is KYMO_OUTPUT_MAX_AGE, and `http.clientCAFile`
    /// KYMO_HTTP_CLIENT_CA_FILE.
    var variable: String {
        let letters = Array(key)
        return letters.indices.reduce(into: "KYMO_") { name, place in
            let letter = letters[place]
            if letter == "." { return name += "_" }
            // A word begins behind a small letter, and with the last capital letter before one.
            let follows = place > 0 && !letters[place - 1].isUppercase
            let leads = place + 1 < letters.count && letters[place + 1].isLowercase
            if letter.isUppercase, follows || leads { name += "_" }
            name += letter.uppercased()
        }
    }

    /// Reads `values` into `root` and notes what is wrong; false when `root` is as before.
    func apply(_ values: [SettingText], to root: inout Root, log: inout ConfigurationLog) -> Bool {
        do throws(SettingProblem) {
            try read(values.map(\.text), &root)
            return true
        } catch {
            if let value = values.dropFirst(error.element).first ?? values.first {
                log.add(.error, value.origin, error.message, advice: error.advice)
            }
            return false
        }
    }
}
