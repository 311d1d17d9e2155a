/// Seconds as people read them.
enum TimeText {
    /// `0.4 s`, `12 s`, `3 min 20 s`.
    static func of(_ seconds: Double) -> String {
        if seconds < 10 { return "\(Double(Int(seconds * 10)) / 10) s" }
        let whole = Int(seconds)
        return whole < 60 ? "\(whole) s" : "\(whole / 60) min \(whole % 60) s"
    }
}
