/// How a resource names its Patient, its Device and others, and whether it says its id.
enum ObservationReferences {
    /// By identifier, and with the id where the options want it: the resource is whole.
    case byIdentifier
    /// Not at all: there are ``EntryHoles``, which whoever puts entries together fills.
    case left
}
