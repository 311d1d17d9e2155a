/// Why one source cannot have the payloads of two mappings.
package enum PayloadConflict: Error, Equatable, Sendable {
    /// They are of different kinds: JSON, frames, values of a characteristic, packets of a layout, messages.
    case payload
    /// Packets of this vendor's characteristic have two layouts.
    case characteristic(String)
    /// A handle stands for two characteristics.
    case handle(UInt16)
    /// ``CGMStatusOrder`` differs.
    case statusOrder

    /// What the two mappings do, for messages.
    package var text: String {
        switch self {
        case .payload: return "read different payloads"
        case .characteristic(let name): return "declare different fields for the characteristic \(name)"
        case .handle(let handle):
            let digits = String(handle, radix: 16)
            let zeros = String(repeating: "0", count: 4 - digits.count)
            return "name different characteristics for the handle 0x\(zeros)\(digits)"
        case .statusOrder: return "name different orders of status octets ('cgmStatusOrder')"
        }
    }
}
