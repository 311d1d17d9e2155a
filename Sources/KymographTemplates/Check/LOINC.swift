import KymographCore

/// LOINC numbers: one to seven digits, a hyphen and a check digit (mod 10, double-add-double).
enum LOINC {
    static let system = "http://loinc.org"

    /// What is wrong with `code` as a LOINC number.
    enum Fault: Equatable {
        /// It has another form.
        case form
        /// Its check digit should be this one.
        case checkDigit(Int)
    }

    /// Why `code` cannot be a LOINC number, or nil when it can.
    static func fault(in code: String) -> Fault? {
        guard let (number, digit) = split(code) else { return .form }
        let expected = checkDigit(number)
        return digit == expected ? nil : .checkDigit(expected)
    }

    private static func split(_ code: String) -> (number: [Int], digit: Int)? {
        let parts = code.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...7).contains(parts[0].utf8.count), parts[1].utf8.count == 1 else { return nil }
        let digits = (parts[0] + parts[1]).utf8.map { Int($0) - 48 }
        guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        return (Array(digits.dropLast()), digits[digits.count - 1])
    }

    private static func checkDigit(_ number: [Int]) -> Int {
        let sum = number.reversed().enumerated().reduce(0) { sum, next in
            guard next.offset.isMultiple(of: 2) else { return sum + next.element }
            let doubled = next.element * 2
            return sum + doubled / 10 + doubled % 10
        }
        return (10 - sum % 10) % 10
    }
}
