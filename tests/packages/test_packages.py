#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: built, judged by lintian and systemd-analyze, and installed into a
fresh root from this machine's own package source. There the guide is run, and packages
are upgraded and purged. Machines have systemd as their first process where systemd-nspawn
can boot it, else a stand-in for systemctl (tests/e2e/machines.py).

SUBLET_PACKAGES_ROOT=DIRECTORY keeps the fresh root for the next run."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import guide
from federation import BIN, ROOT, Failure, Skip, expect, expect_equal, main
from machines import Machines, needs

BUILT = os.path.join(ROOT, "build", "packages")
DAEMONS = ("sublet-broker", "sublet-site", "sublet-host")
PACKAGES = ("sublet", *DAEMONS, "sublet-slurmd", "sublet-lsf", "sublet-doc")
INCLUDED = ["systemd", "systemd-sysv", "dbus", "iproute2", "procps", "python3", "curl",
            "munge", "slurmctld", "slurmd", "slurm-client"]
# The exposure that systemd may find, in tenths: jobs inherit what a site may not do.
EXPOSURE = {"sublet-broker": 20, "sublet-site": 90, "sublet-host": 90,
            "sublet-slurmd@south": 70}
NAMES = ("find / -xdev -iname '*sublet*' -not -path '/proc/*' -not -path '/sys/*' "
         "-not -path '/root/*' -not -name '*systemctl-stub*' | sort")
scratch = tempfile.mkdtemp(prefix="sublet-packages-")
os.chmod(scratch, 0o755)


def run(*words):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True,
                          errors="replace")
    out = done.stdout + done.stderr
    expect(done.returncode == 0, "%s: exit %d: %s" % (
        " ".join(words), done.returncode, out[-2000:]))
    return out


def debs(*names):
    found = [path for name in names for path in glob.glob(
        os.path.join(BUILT, "%s_*.deb" % name))]
    expect_equal(len(found), len(names), "packages of %s" % (names,))
    return found


def sources():
    """This machine's own sources of Debian, for mmdebstrap."""
    text = run("apt-get", "indextargets", "--format",
               "$(ORIGIN) $(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    lines = ["deb " + line.split(" ", 1)[1] for line in sorted(set(text.splitlines()))
             if line.startswith("Debian ")]
    if not lines:
        raise Skip("this machine has no package source of Debian; run apt-get update")
    return "\n".join(lines) + "\n"


def fresh_root():
    """A minimal Debian, with what the packages depend on: machines have no network."""
    root = os.environ.get("SUBLET_PACKAGES_ROOT") or os.path.join(scratch, "root")
    if os.path.isdir(os.path.join(root, "etc")):
        return root
    needs("mmdebstrap")
    depends = set()
    for path in debs("sublet", *DAEMONS, "sublet-slurmd"):
        for word in run("dpkg-deb", "-f", path, "Depends").split(","):
            name = word.split("|")[0].split()[0]
            if not name.startswith("sublet"):
                depends.add(name)
    codename = run("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME").strip()
    made = subprocess.run(
        ["mmdebstrap", "--mode=root", "--variant=minbase",
         "--include=" + ",".join([*INCLUDED, *sorted(depends)]), codename, root, "-"],
        input=sources(), capture_output=True, text=True)
    if made.returncode != 0:
        raise Skip("mmdebstrap cannot make a root: " + made.stderr[-300:].strip())
    return root


def machines(*names):
    """With the packages in root's home."""
    directory = os.path.join(scratch, "files")
    if not os.path.isdir(directory):
        os.makedirs(os.path.join(directory, "root"))
        for path in debs(*PACKAGES):
            shutil.copy(path, os.path.join(directory, "root"))
    return boot(names, fresh_root(), directory)


def boot(names, root, files):
    try:
        return Machines(*names, root=root, files=files, boots=True)
    except Skip as reason:
        print("systemd does not boot here, so that systemctl is a stand-in: %s" % reason)
        return Machines(*names, root=root, files=files)


def test_lintian():
    needs("lintian")
    out = run("lintian", "--allow-root", "--fail-on", "error,warning",
              *glob.glob(os.path.join(BUILT, "*.changes")))
    expect(not re.search("^[EW]: ", out, re.M), out)


def test_contents():
    for name in ("sublet", *DAEMONS, "sublet-slurmd"):
        listing = run("dpkg-deb", "-c", *debs(name))
        expect("./usr/bin/" + name in listing, listing)
        expect("./usr/share/man/man" in listing, name + " has a manual page")
        expect(".debug" in run("dpkg-deb", "-c", *debs(name + "-dbgsym")), "debug symbols")
    expect("/etc/sublet/broker.conf" in run("dpkg-deb", "-I", *debs("sublet-broker"),
                                            "conffiles"), "conffiles")
    listing = run("dpkg-deb", "-c", *debs("sublet-lsf"))
    for name in ("bsub", "bjobs", "lsid"):
        expect("./usr/bin/%s -> sublet-lsf" % name in listing, listing)
        expect("/%s.1.gz -> sublet-lsf.1.gz" % name in listing, listing)
    listing = run("dpkg-deb", "-c", *debs("sublet-doc"))
    for part in ("two-sites.md", "alerts.yml", "sublet.json"):
        expect(part in listing, part + " is in sublet-doc")


def test_units():
    """As systemd judges them, in the fresh root with the packages' files."""
    root = os.path.join(scratch, "units")
    run("cp", "-rp", fresh_root(), root)
    for path in debs("sublet", *DAEMONS, "sublet-slurmd"):
        run("dpkg-deb", "-x", path, os.path.join(root, "x"))
    run("cp", "-rp", root + "/x/lib/.", root + "/lib/")
    run("cp", "-rp", root + "/x/usr/.", root + "/usr/")
    out = run("systemd-analyze", "verify", "--man=no", "--root=" + root,
              *[name + ".service" for name in EXPOSURE])
    expect("sublet" not in out, "systemd-analyze verify says:\n" + out)
    for name, most in EXPOSURE.items():
        run("systemd-analyze", "security", "--offline=true", "--root=" + root,
            "--threshold=%d" % most, name + ".service")


def rpms(*names):
    found = [path for name in names for path in glob.glob(
        os.path.join(BUILT, "%s-[0-9]*.rpm" % name)) if not path.endswith(".src.rpm")]
    expect_equal(len(found), len(names), "RPMs of %s" % (names,))
    return found


def test_rpm():
    """Installed into a root whose libraries Debian's packages brought, so that rpm does not
    look at dependencies; its scriptlets run there, a job runs, and nothing stays."""
    needs("rpmbuild", "rpm")
    run("make", "rpm")
    listing = run("rpm", "-qpl", *rpms("sublet-broker"))
    for name in ("/usr/bin/sublet-broker", "/etc/sublet/broker.conf", "sublet-broker.service"):
        expect(name in listing, listing)
    live_from_rpms()


def rpm(root, *words):
    """With /proc, which scriptlets need."""
    return run("unshare", "--mount", "sh", "-ec",
               'mount -t proc proc "$0/proc"; rpm --root="$0" "$@"', root, *words)


def live_from_rpms():
    names = ("sublet", *DAEMONS, "sublet-slurmd")
    root, files = os.path.join(scratch, "rpm"), os.path.join(scratch, "rpm-files")
    run("cp", "-rp", fresh_root(), root)
    rpm(root, "--nodeps", "-i", *rpms(*names))
    expect_equal(rpm(root, "-V", "--nodeps", *names), "", "rpm -V")
    with open(os.path.join(root, "etc/passwd")) as file:
        expect(re.search("^sublet:", file.read(), re.M), "the account of the broker")
    for place in ("etc", "var/lib"):  # a machine begins without them
        os.makedirs(os.path.join(files, place))
        run("cp", "-rp", os.path.join(root, place, "sublet"), os.path.join(files, place))
    with boot(("alpha",), root, files) as made:
        alpha = made["alpha"]
        start_site(alpha)
        alpha.run("sublet sub sleep 1000")
        alpha.wait_for("the job", lambda: is_running(alpha))
        alpha.run("sublet kill 0")
    rpm(root, "-e", *names)
    left = run("find", root + "/usr", root + "/lib", root + "/etc", "-name", "*sublet*")
    expect_equal(left, "", "files after rpm -e")


def test_uninstall():
    """It removes what make install has installed, but configuration that was changed."""
    directory = os.path.join(scratch, "installed")
    run("make", "-s", "install", "DESTDIR=" + directory)
    conf = directory + "/etc/sublet/site.conf"
    with open(conf, "a") as file:
        file.write("# changed\n")
    run("make", "-s", "uninstall", "DESTDIR=" + directory)
    left = [os.path.join(place, name) for place, _, names in os.walk(directory)
            for name in names]
    expect_equal(left, [conf], "files that stay")


def test_guide():
    """The page, word by word, from the packages to the leased job."""
    with machines("alpha", "beta") as made:
        done = guide.run(made, "two-sites.md")
    leased = [seconds for step, seconds in done if step.command == "sublet peek 3"]
    expect_equal(len(leased), 1, "the step that shows the leased job")
    print("from two machines without packages to a leased job: %.1f s" % leased[0])


def podman(*words):
    """With a store of its own. runc also runs where cgroups of both versions are mounted."""
    return run("podman", "--root", os.path.join(scratch, "images"), "--runroot",
               os.path.join(scratch, "containers"), "--runtime", "runc",
               "--cgroup-manager", "cgroupfs", *words)


def image():
    """Built on the fresh root, as no registry may be reached from here."""
    needs("podman", "runc")
    base = os.path.join(scratch, "base.tar")
    run("tar", "-C", fresh_root(), "-cf", base, ".")
    try:
        podman("import", "-q", base, "localhost/base")
        podman("run", "--rm", *HERE, "localhost/base", "true")
    except Failure as reason:
        raise Skip("podman cannot run a container here: %s" % reason) from None
    podman("build", "--isolation=chroot", "--network=host", "-t", "sublet-broker",
           "--build-arg", "BASE=localhost/base", "-f", "deploy/container/Containerfile", ".")


HERE = ("--network=host", "--ulimit=nofile=1024:4096", "--ulimit=nproc=1000:1000")
CONTAINED = """Begin Broker
LISTEN = tcp://127.0.0.1:15570
HTTP   = 127.0.0.1:15571
STATE  = /var/lib/sublet/broker/broker.db
KEY    = /etc/sublet/keys/broker.key_secret
End Broker
Begin Member
NAME  KEY_FILE                     ROLES
ops   /etc/sublet/keys/broker.key  (admin)
End Member
"""


def test_container():
    """The image's broker serves, ends with SIGTERM, and goes on from the store it left."""
    image()
    etc, state = os.path.join(scratch, "etc"), os.path.join(scratch, "state")
    os.makedirs(etc + "/keys")
    os.makedirs(state)
    run(os.path.join(BIN, "sublet"), "keygen", etc + "/keys/broker")
    with open(etc + "/broker.conf", "w") as file:
        file.write(CONTAINED)
    run("chown", "-R", "990", etc, state)
    for _ in range(2):
        podman("run", "-d", "--name", "broker", *HERE, "-v", etc + ":/etc/sublet",
               "-v", state + ":/var/lib/sublet/broker", "localhost/sublet-broker")
        run("curl", "-sf", "--retry", "50", "--retry-delay", "1", "--retry-all-errors",
            "http://127.0.0.1:15571/healthz")
        expect("sublet " in podman("exec", "broker", "sublet", "--version"), "its version")
        podman("stop", "broker")
        expect_equal(podman("inspect", "-f", "{{.State.ExitCode}}", "broker").strip(), "0",
                     "exit code of the broker")
        podman("rm", "broker")
    expect(os.path.getsize(state + "/broker.db") > 0, "the store outlives the container")


def start_site(alpha):
    for name in ("broker", "site"):
        alpha.run("sublet check /etc/sublet/%s.conf" % name)
        alpha.run("sublet keygen /etc/sublet/keys/" + name)
    alpha.run("chown sublet: /etc/sublet/keys/broker.key_secret")
    alpha.run("sed -i 's/^# HOSTS_HERE.*/HOSTS_HERE = alpha/' /etc/sublet/site.conf")
    alpha.run("printf 'Begin Host\\nHOST_NAME MXJ type model\\nalpha 2 X86_64 EPYC\\n"
              "End Host\\n' >>/etc/sublet/site.conf")
    alpha.run("systemctl start sublet-broker sublet-site")
    alpha.wait_for("the host", lambda: re.search(
        "alpha +ok", alpha.run("sublet hosts", code=None)))


def is_running(alpha):
    return " RUN " in alpha.run("sublet jobs", code=None)


def test_life():
    """Nothing starts unasked, an upgrade keeps jobs, and purge leaves nothing."""
    with machines("alpha") as made:
        alpha = made["alpha"]
        before = alpha.run(NAMES)
        alpha.run("apt-get install -y ./sublet*.deb")
        expect_equal(alpha.run("pidof sublet-broker sublet-site sublet-host", code=None), "",
                     "daemons without a configuration")
        start_site(alpha)
        alpha.run("sublet sub sleep 1000")
        alpha.wait_for("the job", lambda: is_running(alpha))
        job = alpha.run("pgrep -x sleep -a | grep 1000")
        site = alpha.run("pidof sublet-site")
        # The same packages as a newer version.
        alpha.run("mkdir newer && for f in sublet*.deb; do dpkg-deb -R $f x && "
                  "sed -i 's/^Version: .*/&+1/; s/(= [^)]*/&+1/' x/DEBIAN/control && "
                  "dpkg-deb -b x newer/$f && rm -r x || exit 1; done")
        alpha.run("apt-get install -y ./newer/*.deb")
        expect("+1" in alpha.run("dpkg-query -W sublet-site"), "the newer version")
        expect(alpha.run("pidof sublet-site") != site, "the upgrade restarts the daemon")
        alpha.wait_for("the job to be found again", lambda: is_running(alpha))
        expect_equal(alpha.run("pgrep -x sleep -a | grep 1000"), job, "the job's process")
        expect("HOSTS_HERE = alpha" in alpha.run("grep ^HOSTS_HERE /etc/sublet/site.conf"),
               "a configuration that was changed is kept")
        alpha.run("sublet kill 0")
        alpha.wait_for("the job to end", lambda: not is_running(alpha))
        alpha.run("apt-get purge -y 'sublet*'")
        expect_equal(alpha.run(NAMES), before, "files after purge")
        expect_equal(alpha.run("getent passwd sublet", code=None), "", "its account")


SLURM_CONF = """ClusterName=south
SlurmctldHost=alpha
SlurmctldParameters=enable_configless
SlurmUser=slurm
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MaxNodeCount=4
NodeSet=guests Feature=sublet
PartitionName=borrowed Nodes=guests State=UP Default=YES
"""
ASK = ("setpriv --reuid %s --regid %s --clear-groups sublet-slurmd /run/sublet-slurmd-south/socket "
       "-D -Z -N sublet7 --conf 'CPUs=1 Feature=sublet,north'")


def start_cluster(alpha):
    """slurmctld without nodes, whose configuration slurmd asks it for."""
    alpha.write("/etc/slurm/slurm.conf", SLURM_CONF)
    alpha.run("install -d -o slurm /var/lib/slurm/slurmctld && "
              "(umask 077; head -c 1024 /dev/urandom >/etc/munge/munge.key) && "
              "chown munge: /etc/munge/munge.key && systemctl restart munge && "
              "systemctl restart slurmctld")
    alpha.wait_for("slurmctld", lambda: "borrowed" in alpha.run("sinfo -h -o %R", code=None))


def test_slurmd():
    """The unit of sublet-slurmd under systemd: only the account that it names can ask; slurmd
    joins its cluster without root, runs a job, and leaves nothing but its unit. Both clusters
    of a lent host are stood in for by one, whose slurmd is not started."""
    with machines("alpha") as made:
        alpha = made["alpha"]
        if "systemctl_stub" in alpha.run("cat $(command -v systemctl) | head -c 2000", code=None):
            raise Skip("systemd does not boot here")
        alpha.run("apt-get install -y ./sublet_*.deb ./sublet-slurmd_*.deb")
        start_cluster(alpha)
        alpha.run("systemctl start sublet-slurmd@south")
        expect("inactive" in alpha.run("systemctl is-active sublet-slurmd@south", code=None),
               "a cluster that is not configured")
        alpha.run("useradd guest && useradd other && "
                  "install -m 600 /etc/munge/munge.key /etc/sublet/keys/south.munge && "
                  "sed -e 's/^ACCOUNT=.*/ACCOUNT=guest/' -e 's/CONTROLLER/alpha/' "
                  "-e 's,^MUNGE_KEY=.*,MUNGE_KEY=/etc/sublet/keys/south.munge,' "
                  "/etc/sublet/slurmd.env >/etc/sublet/slurmd-south.env")
        # systemd-nspawn hides parts of /proc, which a machine does not.
        alpha.run("for i in 1 2 3 4; do umount -l $(awk '$5 ~ \"^/proc/\" { print $5 }' "
                  "/proc/self/mountinfo) 2>/dev/null; done; ! grep ' /proc/' /proc/self/mountinfo")
        alpha.run("systemctl start sublet-slurmd@south")
        expect("Permission denied" in alpha.run(ASK % ("other", "other"), code=1),
               "another account cannot ask")
        alpha.run("systemd-run --unit=guest -p KillSignal=SIGKILL " + ASK % ("guest", "guest"))
        alpha.wait_for("the node", lambda: "sublet7 idle" in alpha.run(
            "sinfo -h -N -o '%N %T'", code=None))
        alpha.run("sbatch --chdir=/ --output=/dev/null --uid=other --wrap "
                  "'id -un >/tmp/who; sleep 1000'")
        alpha.wait_for("the job", lambda: " R " in alpha.run("squeue -h -o ' %t '", code=None))
        alpha.wait_for("its processes, none of which is root", lambda: {
            "sublet-slurmd", "munged", "slurmd", "slurmstepd", "sleep"} <= set(alpha.run(
                "ps -U 200000,201001 -o comm --no-headers").split()))
        caps = alpha.run("grep CapEff /proc/$(systemctl show -P MainPID sublet-slurmd@south)/status")
        expect_equal(int(caps.split()[1], 16), 1 << 0 | 1 << 6 | 1 << 7, "capabilities")
        alpha.run("systemctl kill --signal=KILL guest")
        alpha.wait_for("nothing of it to run", lambda: alpha.run(
            "ps -U 200000,201001 --no-headers", code=None) == "")
        expect("active" in alpha.run("systemctl is-active sublet-slurmd@south"), "the service")
        alpha.run("systemctl stop sublet-slurmd@south")
        alpha.run("apt-get purge -y sublet-slurmd")
        expect_equal(alpha.run("ls -d /run/sublet-slurmd-* /etc/sublet 2>/dev/null", code=None),
                     "", "files after purge")


def setup():
    run("make", "deb", "REUSE=1")


def main_with_packages():
    try:
        needs("dpkg-buildpackage", "dh", "unshare", "nsenter", "ip")
    except Skip as reason:
        print("%s\n0 passed, 0 failed, 1 skipped" % reason)
        return
    try:
        main(test_lintian, test_contents, test_units, test_rpm, test_uninstall,
             test_container, test_guide, test_life, test_slurmd, setup=setup)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


main_with_packages()
