/// How the packets of a source are to be read: what the mappings that it uses say together.
package struct PacketForm: Sendable, Equatable {
    /// What one payload is.
    package enum Carrier: Sendable, Equatable {
        /// A frame of a bridge, which names the characteristic.
        case frame
        /// The value of one characteristic, and nothing else.
        case value(GATTCharacteristic)
        /// A vendor's packet, and nothing else.
        case packet
        /// A message of HL7 v2, which is text and becomes documents of its own.
        case message
    }

    package var carrier: Carrier
    /// The vendor's packets that can come.
    package var layouts: [BinaryLayout] = []
    /// The characteristics of the devices' handles.
    package var handles = HandleTables()
    /// nil when no mapping says.
    package var statusOrder: CGMStatusOrder?

    package init(carrier: Carrier) {
        self.carrier = carrier
    }

    /// This form and that of another mapping of the source.
    ///
    /// - Throws: ``PayloadConflict`` when one payload cannot be both.
    func joined(with other: PacketForm) throws(PayloadConflict) -> PacketForm {
        guard carrier == other.carrier else { throw .payload }
        guard carrier != .packet || layouts == other.layouts else { throw .payload }
        var joined = self
        for layout in other.layouts where !layouts.contains(layout) {
            if layouts.contains(where: { $0.characteristic == layout.characteristic }) {
                throw .characteristic(layout.characteristic?.text ?? "")
            }
            joined.layouts.append(layout)
        }
        joined.handles = try handles.joined(with: other.handles)
        if let order = other.statusOrder {
            if let known = statusOrder, known != order { throw .statusOrder }
            joined.statusOrder = order
        }
        return joined
    }
}
