/// The number of a count of one item of a body: a lane numbers bodies, and the items of each.
///
/// As the number of a count it is below 0, and those of requests that are counted as a whole are above: what comes of
/// many items takes nothing from them.
package struct ItemNumber: Hashable, Sendable {
    /// Most items of a body.
    package static let most = (1 << bits) - 1
    private static let bits = 10

    /// The lane's number of the body; 0 before the first.
    package private(set) var body = 0
    /// The item's number in it; 0 before the first.
    package private(set) var item = 0

    /// Before the first body.
    init() {}

    /// The item that the count called `number` is of; nil when that is of a request as a whole.
    package init?(count number: Int) {
        guard number < 0 else { return nil }
        (body, item) = (-number >> Self.bits, -number & Self.most)
    }

    /// The number of its count, below 0.
    var count: Int { -(body << Self.bits | item) }

    /// Goes on to the next body, before its first item.
    mutating func nextBody() { (body, item) = (body + 1, 0) }

    /// Goes on to the next item of the body, which has at most ``most``.
    mutating func nextItem() {
        precondition(item < Self.most, "a body has at most \(Self.most) items")
        item += 1
    }
}
