"""Numbers of the system calls that the filter looks at, by machine: x86_64, aarch64."""

# Where the kernel has no call of this name.
NONE = -1

# Refused whatever their arguments.
REFUSED = {
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # What is shared with everybody.
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183),
    "mq_notify": (244, 184),
    "mq_getsetattr": (245, 185),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Ways around a filter or an isolation.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "personality": (135, 92),
    # Large parts of the kernel that nobody needs.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "memfd_secret": (447, 447),
    # Its pages count to nobody, as long as they are not mapped.
    "memfd_create": (319, 279),
    "modify_ldt": (154, NONE),
    "iopl": (172, NONE),
    "ioperm": (173, NONE),
    "uselib": (134, NONE),
    "sysfs": (139, NONE),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "vhangup": (153, 58),
    "syslog": (103, 116),
    # The machine.
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
}
# Answered as by a kernel that has none of them: who asks does without.
ABSENT = {
    # Pages of others' files, and those that change under who reads them.
    "vmsplice": (278, 75),
    "cachestat": (451, 451),
    # What isolation is made of.
    "statmount": (457, 457),
    "listmount": (458, 458),
    "lsm_get_self_attr": (459, 459),
    "lsm_set_self_attr": (460, 460),
    "lsm_list_modules": (461, 461),
}
# The last call that somebody has looked at (mseal). Whatever kernels bring after it is absent, and so is the older ABI of
# x86_64 (x32), whose numbers are larger.
NEWEST = 462
# The first of those that no machine had before all shared the same numbers; a few got a meaning later.
GAP = (335, 295)
SHARED_FROM = 424
CLONE = (56, 220)
CLONE3 = (435, 435)
SOCKET = (41, 198)
SOCKETPAIR = (53, 199)
SETSOCKOPT = (54, 208)
# Which send, and where their flags are.
SENDING = (((44, 206), 3), ((46, 211), 2), ((307, 269), 3))
PRLIMIT = (302, 261)
SCHED_SETAFFINITY = (203, 122)
IOCTL = (16, 29)
