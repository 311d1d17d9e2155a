/// Which texts a setting takes, for programs such as editors: the reader of the setting has the last word.
package enum SettingValues: Hashable, Sendable {
    /// Any text.
    case text
    /// A length of time.
    case duration
    /// Bytes, as a number or with a unit.
    case size(ClosedRange<Int>)
    /// A whole number.
    case count(ClosedRange<Int>)
    /// A whole number, or `auto`.
    case countOrAuto(ClosedRange<Int>)
    /// A power of two.
    case powerOfTwo(ClosedRange<Int>)
    /// One of these.
    case choice([String])
    /// An absolute URI.
    case uri
}
