import KymographCore

/// Why a text cannot be a setting's value.
package struct SettingProblem: Error {
    /// What is wrong with the value.
    package var message: String
    /// What to write instead.
    package var advice: String
    /// Which element of a list is meant.
    var element: Int

    /// Makes a problem.
    package init(message: String, advice: String = "") {
        self.init(message: message, advice: advice, element: 0)
    }

    /// Makes a problem of one element of a list.
    init(message: String, advice: String = "", element: Int) {
        self.message = message
        self.advice = advice
        self.element = element
    }
}

/// One key of the configuration: how its text is read into `Root`, and what the reference says about it.
struct Setting<Root>: Sendable {
    /// Reads the texts, one unless the setting is a list.
    typealias Read = @Sendable ([String], inout Root) throws(SettingProblem) -> Void

    /// Dotted name, as in `output.format`.
    let key: String
    /// What may be written, for people.
    let form: String
    /// What it is for, in a sentence without final stop.
    let about: String
    /// Whether it takes several texts.
    var isList = false
    let read: Read
    /// The value in `Root` as one would write it; empty when there is none.
    let shown: @Sendable (Root) -> String

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
