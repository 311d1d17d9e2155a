/// What the handles of devices stand for, where a bridge knows no more: each model has a table of its own.
package struct HandleTables: Sendable, Equatable {
    /// The table of one model, told by the identifiers of its devices.
    package struct Model: Sendable, Equatable {
        /// Which devices are of the model.
        var devices: NamePattern
        /// Characteristics by handle.
        package var characteristics: [UInt16: BluetoothUUID]

        package init(devices: NamePattern, characteristics: [UInt16: BluetoothUUID]) {
            (self.devices, self.characteristics) = (devices, characteristics)
        }
    }

    /// The table of devices that are of no model.
    package var common: [UInt16: BluetoothUUID] = [:]
    /// The tables of the models, in the order in which they are looked at.
    package var models: [Model] = []

    package init(common: [UInt16: BluetoothUUID] = [:], models: [Model] = []) {
        (self.common, self.models) = (common, models)
    }

    /// The characteristic at `handle` of `device`; nil when it is not known. A device of a model has nothing but what
    /// the tables for it say: the common table is of other models.
    func characteristic(at handle: UInt16, of device: ByteView?) -> BluetoothUUID? {
        guard let device, !models.isEmpty else { return common[handle] }
        var isOfModel = false
        for model in models where model.devices.matches(device) {
            if let found = model.characteristics[handle] { return found }
            isOfModel = true
        }
        return isOfModel ? nil : common[handle]
    }

    /// These tables and those of another mapping.
    ///
    /// - Throws: ``PayloadConflict/handle(_:)`` when one handle would have two meanings.
    func joined(with other: HandleTables) throws(PayloadConflict) -> HandleTables {
        var joined = self
        try HandleTables.join(&joined.common, other.common)
        for model in other.models {
            guard let index = joined.models.firstIndex(where: { $0.devices == model.devices }) else {
                joined.models.append(model)
                continue
            }
            try HandleTables.join(&joined.models[index].characteristics, model.characteristics)
        }
        return joined
    }

    private static func join(
        _ table: inout [UInt16: BluetoothUUID], _ other: [UInt16: BluetoothUUID]
    ) throws(PayloadConflict) {
        for (handle, uuid) in other.sorted(by: { $0.key < $1.key }) {
            if let known = table[handle], known != uuid { throw .handle(handle) }
            table[handle] = uuid
        }
    }
}
