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
    /// Whether it takes several texts.
    package var isList = false
    package let read: Read
    /// The value in `Root` as one would write it; empty when there is none.
    package let shown: @Sendable (Root) -> String

    /// A setting; `shown` gives its value as one would write it.
    package init(
        key: String, form: String, about: String, isList: Bool = false, read: @escaping Read,
        shown: @escaping @Sendable (Root) -> String
    ) {
        (self.key, self.form, self.about, self.isList) = (key, form, about, isList)
        (self.read, self.shown) = (read, shown)
    }

    /// The environment variable: `output.maxAge` is KYMO_OUTPUT_MAX_AGE.
    var variable: String {
        key.reduce(into: "KYMO_") { name, character in
            if character == "." { return name += "_" }
            if character.isUppercase { name += "_" }
            name += character.uppercased()
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
