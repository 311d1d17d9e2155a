/// How a byte stream that is not NDJSON is cut into payloads.
package struct Framing: Hashable, Sendable {
    /// What marks the borders.
    package enum Borders: Hashable, Sendable {
        /// One to eight bytes between payloads, which they never hold.
        case delimiter([UInt8])
        /// A length before each payload.
        case length(LengthField)
        /// SLIP (RFC 1055).
        case slip
        /// Consistent Overhead Byte Stuffing, with a zero after each frame.
        case cobs
        /// Payloads of this many bytes each.
        case fixed(Int)
    }

    /// What marks the borders.
    package var borders: Borders
    /// What each frame carries at its end, which is no part of the payload.
    package var check: FrameCheck
    /// Whether the check is sent with its highest byte first.
    package var isCheckBigEndian: Bool
    /// Whether a frame without content is a payload.
    package var keepsEmpty = false

    /// Makes a framing.
    package init(_ borders: Borders, check: FrameCheck = .none, isCheckBigEndian: Bool = false) {
        self.borders = borders
        self.check = check
        self.isCheckBigEndian = isCheckBigEndian
    }

    /// Most bytes that a frame with a payload of `cap` bytes can have on the wire, without its delimiter.
    func longestRaw(cap: Int) -> Int {
        let content = cap + check.width
        return switch borders {
        case .delimiter, .fixed: content
        case .length(let field): content + field.longestHead
        case .slip: 2 * content
        case .cobs: content + content / 254 + 1
        }
    }
}
