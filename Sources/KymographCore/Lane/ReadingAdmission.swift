/// Which readings a sender may bring. For any thread.
package protocol ReadingAdmission: AnyObject, Sendable {
    /// Why a reading of the series `key` (a ``SeriesKey``) is not taken; nil when it is.
    func refusal(of key: ByteView) -> Rejection?

    /// The tags that readings get (``ReadingTags``).
    var tags: [UInt8] { get }
}
