/// Which patches a resource gets, as bits.
package struct PatchSelection: Hashable, Sendable {
    /// By the places of their rules.
    package var rules: UInt64 = 0
    /// By the places of those that a program adds.
    package var own: UInt64 = 0

    /// None.
    package init() {}

    /// Whether there is none.
    package var isEmpty: Bool { rules == 0 && own == 0 }
}
