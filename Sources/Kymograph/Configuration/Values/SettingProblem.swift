/// Why a text cannot be a setting's value.
public struct SettingProblem: Error {
    /// What is wrong with the value.
    package var message: String
    /// What to write instead.
    package var advice: String
    /// Which element of a list is meant.
    var element: Int

    /// Says what is wrong, and what to write instead, each in a sentence without final stop; `advice` is empty when the
    /// message says it.
    public init(message: String, advice: String = "") {
        self.init(message: message, advice: advice, element: 0)
    }

    /// Makes a problem of one element of a list.
    init(message: String, advice: String = "", element: Int) {
        self.message = message
        self.advice = advice
        self.element = element
    }

    /// Of a value that is empty, and should be a `form`.
    static func empty(_ form: String) -> SettingProblem {
        SettingProblem(message: "the value is empty", advice: "write a \(form)")
    }
}
