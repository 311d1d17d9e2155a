import KymographCore

/// Composes bundles of the entries that may be sent now.
struct BundleComposer {
    let settings: DeliverySettings
    let lanes: DeviceLanes
    let admission: EntryAdmission
    let creates: ConditionalCreates
    let saver: EntrySaver

    /// The next bundle within `limit`, empty when there is none. Entries that cannot be in a bundle are stored
    /// meanwhile.
    func compose(_ limit: BundleLimit) -> BundleDraft {
        var draft = BundleDraft(carriesResources: !settings.resolvesIdentity)
        var isFull = false
        lanes.visitReady { lane in
            if !isFull { isFull = fill(&draft, from: lane, limit) }
        }
        return draft
    }

    /// Takes what fits from a lane; whether the bundle is full.
    private func fill(_ draft: inout BundleDraft, from lane: DeviceLane, _ limit: BundleLimit) -> Bool {
        while let entry = admission.next(of: lane) {
            if isSavedAlone(entry) {
                // What is taken of this lane already goes first.
                guard lane.phase == .idle else { return false }
                lane.enter(.sending)
                saver.save(next: entry, of: lane)
                return false
            }
            // The next of this device must wait for the bundle that makes the resources which it refers to.
            guard draft.accepts(entry), !isHeldUp(entry) else { return false }
            guard draft.hasRoom(for: entry, limit) else { return true }
            lane.removeFirst()
            if !settings.resolvesIdentity { creates.begin(entry) }
            draft.add(entry, of: lane)
        }
        return false
    }

    private func isHeldUp(_ entry: DeliveryEntry) -> Bool { !settings.resolvesIdentity && creates.isHeldUp(entry) }

    /// Whether `entry` describes a Device that somebody registered on the server: what it says is added there, because
    /// the server's Device says whose it is. Or whether it is deleted: the server is asked first what it has of it.
    private func isSavedAlone(_ entry: DeliveryEntry) -> Bool {
        entry.isDeleted || settings.resolvesIdentity && entry.described != nil && !entry.isCreated
    }
}
