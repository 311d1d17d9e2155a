import KymographCore

/// What surrounds the hole of a typed value, and which hole it is.
struct TypedText {
    var head: String
    var code: ProgramStep.Code
    var foot: String

    /// The texts of a value of `form`; `count` is how whole numbers are written where there is no `valueInteger`.
    init(_ form: ValueForm, _ version: FHIRVersion, _ count: CountForm, _ inComponent: Bool) {
        if version == .stu3, let old = TypedText(stu3: form, count, inComponent) {
            self = old
            return
        }
        (head, code, foot) =
            switch form {
            case .integer: ("", .result, "")
            case .boolean: ("", .boolean, "")
            case .dateTime: ("\"", .text, "\"")
            case .time: ("\"", .time, "\"")
            case .period: ("{", .period, "}")
            case .range: ("{", .range, "}")
            case .ratio: ("{\"numerator\":{\"value\":", .result, "")
            }
        head = "\"value\(form.rawValue)\":\(head)"
    }

    /// What STU3 writes in another way: it has no whole numbers, and truth values not in components. For these it names
    /// the codes of HL7 version 2, table 0136 (Yes/no indicator).
    private init?(stu3 form: ValueForm, _ count: CountForm, _ inComponent: Bool) {
        switch form {
        case .integer: (head, code, foot) = (count.integerTexts.before, .result, count.integerTexts.after)
        case .boolean where inComponent:
            (head, code, foot) = (
                "\"valueCodeableConcept\":{\"coding\":[{\"system\":\"http://hl7.org/fhir/v2/0136\",\"code\":\"", .yesNo,
                "\"}]}"
            )
        case .boolean, .dateTime, .time, .period, .range, .ratio: return nil
        }
    }
}
